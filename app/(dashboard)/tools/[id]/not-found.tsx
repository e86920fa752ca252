import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";

export default function ToolNotFound() {
  return (
    <Empty title="Tool not found">
      <p>It was deleted, or it belongs to another of your organizations. Its runs are kept.</p>
      <Link className={buttonClass("plain")} href="/tools">
        Go to tools
      </Link>
    </Empty>
  );
}
