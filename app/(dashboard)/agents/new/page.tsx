import type { Metadata } from "next";
import { AgentEditor } from "../../_editor/agent/agent-editor";
import { AGENT_STARTERS } from "../../_editor/agent/starters";
import { editorPage } from "../../_editor/editor-page";

export const metadata: Metadata = { title: "New agent" };

export default editorPage("agent", "new", (props, from) => {
  const starter = AGENT_STARTERS.find(({ fields }) => fields.slug === from);
  return <AgentEditor key={starter?.fields.slug ?? ""} {...props} starter={starter?.fields} />;
});
