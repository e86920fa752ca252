import type { Metadata } from "next";
import { AgentEditor } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { editorPage } from "@/app/(dashboard)/_editor/editor-page";

export const metadata: Metadata = { title: "New agent" };

export default editorPage("agent", "copy", (props) => <AgentEditor {...props} />);
