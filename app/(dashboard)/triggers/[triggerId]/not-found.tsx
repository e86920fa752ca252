import Link from "next/link";
import { buttonClass } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";

export default function TriggerNotFound() {
  return (
    <Empty title="There is no such trigger in this organization">
      <p>It was deleted, or it belongs to another organization of yours.</p>
      <Link className={buttonClass("plain")} href="/triggers">
        Go to triggers
      </Link>
    </Empty>
  );
}
