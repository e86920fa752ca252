import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";

export default function TriggerNotFound() {
  return (
    <Empty title="Trigger not found">
      <p>It was deleted, or it belongs to another of your organizations.</p>
      <Link className={buttonClass("plain")} href="/triggers">
        Go to triggers
      </Link>
    </Empty>
  );
}
