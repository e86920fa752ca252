import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";
import { PlainPage } from "@/app/_ui/page/plain-page";

export default function PageNotFound() {
  return (
    <PlainPage title="Page not found">
      <p className="mb-4 text-muted">The address is mistyped, or the page was deleted.</p>
      <Link className={buttonClass("primary")} href="/runs">
        Go to runs
      </Link>
    </PlainPage>
  );
}
