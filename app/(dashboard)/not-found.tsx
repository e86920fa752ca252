import Link from "next/link";
import { buttonClass } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";

export default function DashboardNotFound() {
  return (
    <Empty title="There is no such page">
      <p>The address is mistyped, or what stood here was deleted.</p>
      <Link className={buttonClass("plain")} href="/runs">
        Go to runs
      </Link>
    </Empty>
  );
}
