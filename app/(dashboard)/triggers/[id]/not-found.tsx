import { NotFound } from "../../content-page";

export default () => (
  <NotFound list="triggers" what="Trigger">
    It was deleted, or it belongs to another of your organizations.
  </NotFound>
);
