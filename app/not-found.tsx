import { buttonClass } from "@/app/_ui/button";
import { Link } from "@/app/_ui/link";

export default function NotFound() {
  return (
    <main className="flex max-w-xl flex-col items-start gap-3 px-6 py-16">
      <h1 className="font-semibold text-lg">Page not found</h1>
      <p className="text-muted">The address is mistyped, or the page was deleted.</p>
      <Link className={buttonClass("plain")} href="/runs">
        Go to runs
      </Link>
    </main>
  );
}
