import { NotFound } from "../content-page";

export default () => (
  <NotFound list="runs" what="Run">
    It may belong to another of your organizations, or its retention period has ended.
  </NotFound>
);
