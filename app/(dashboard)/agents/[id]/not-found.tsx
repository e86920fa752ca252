import { NotFound } from "../../content-page";

export default () => (
  <NotFound list="agents" what="Agent">
    It was deleted, or it belongs to another of your organizations. Its runs are kept.
  </NotFound>
);
