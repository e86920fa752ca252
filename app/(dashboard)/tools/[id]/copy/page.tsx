import type { Metadata } from "next";
import { editorPage } from "@/app/(dashboard)/_editor/editor-page";
import { ToolEditor } from "@/app/(dashboard)/_editor/tool/lazy-tool-editor";

export const metadata: Metadata = { title: "New tool" };

export default editorPage("tool", "copy", (props) => <ToolEditor {...props} />);
