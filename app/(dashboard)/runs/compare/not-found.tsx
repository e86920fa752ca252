import Link from "next/link";
import { buttonClass } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";

export default function ComparisonNotFound() {
  return (
    <Empty title="One of these runs is not in this organization">
      <p>It may belong to another organization of yours, or its retention time is over.</p>
      <Link className={buttonClass("plain")} href="/runs">
        Go to runs
      </Link>
    </Empty>
  );
}
