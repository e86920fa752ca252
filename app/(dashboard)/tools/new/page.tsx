import type { Metadata } from "next";
import { editorPage } from "../../_editor/editor-page";
import { ToolEditor } from "../../_editor/tool/lazy-tool-editor";
import { TOOL_STARTERS } from "../../_editor/tool/starters";

export const metadata: Metadata = { title: "New tool" };

export default editorPage("tool", "new", (props, from) => {
  const starter = TOOL_STARTERS.find(({ slug }) => slug === from);
  return <ToolEditor key={starter?.slug ?? ""} {...props} starter={starter} />;
});
