import type { Metadata } from "next";
import { AgentEditor } from "../../../_editor/agent/agent-editor";
import { editorPage } from "../../../_editor/editor-page";

export const metadata: Metadata = { title: "New agent" };

export default editorPage("agent", "copy", (props) => <AgentEditor {...props} />);
