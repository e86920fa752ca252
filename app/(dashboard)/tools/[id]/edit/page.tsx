import type { Metadata } from "next";
import { editorPage } from "@/app/(dashboard)/_editor/editor-page";
import { ToolEditor } from "@/app/(dashboard)/_editor/tool/lazy-tool-editor";

export const metadata: Metadata = { title: "Edit tool" };

export default editorPage("tool", "edit", (props) => <ToolEditor {...props} />);
