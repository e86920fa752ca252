import type { Metadata } from "next";
import { AgentEditor } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { editorPage } from "@/app/(dashboard)/_editor/editor-page";

export const metadata: Metadata = { title: "Edit agent" };

export default editorPage("agent", "edit", (props) => <AgentEditor {...props} />);
