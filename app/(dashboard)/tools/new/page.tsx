import type { Metadata } from "next";
import { editorPage } from "../../_editor/editor-page";
import { ToolEditor } from "../../_editor/tool/lazy-tool-editor";

export const metadata: Metadata = { title: "New tool" };

export default editorPage("tool", "new", (props) => <ToolEditor {...props} />);
