import Link from "next/link";
import { buttonClass } from "@/app/_ui/button";
import { Empty } from "@/app/_ui/page";

export default function AgentNotFound() {
  return (
    <Empty title="There is no such agent in this organization">
      <p>It was deleted, or it belongs to another organization of yours. Its runs are kept.</p>
      <Link className={buttonClass("plain")} href="/agents">
        Go to agents
      </Link>
    </Empty>
  );
}
