import type { Metadata } from "next";
import { AgentEditor } from "../../../_editor/agent/agent-editor";
import { editorPage } from "../../../_editor/editor-page";

export const metadata: Metadata = { title: "Edit agent" };

export default editorPage("agent", "edit", (props) => <AgentEditor {...props} />);
