import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";

export default function RunNotFound() {
  return (
    <Empty title="Run not found">
      <p>It may belong to another of your organizations, or its retention period has ended.</p>
      <Link className={buttonClass("plain")} href="/runs">
        Go to runs
      </Link>
    </Empty>
  );
}
