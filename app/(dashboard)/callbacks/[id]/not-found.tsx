import { NotFound } from "../../content-page";

export default () => (
  <NotFound list="callbacks" what="Callback">
    It was deleted, or it belongs to another of your organizations.
  </NotFound>
);
