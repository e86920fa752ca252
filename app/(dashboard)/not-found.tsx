import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";

export default function DashboardNotFound() {
  return (
    <Empty title="Page not found">
      <p>The address is mistyped, or the page was deleted.</p>
      <Link className={buttonClass("plain")} href="/runs">
        Go to runs
      </Link>
    </Empty>
  );
}
