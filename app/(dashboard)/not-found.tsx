import { NotFound } from "./content-page";

export default () => (
  <NotFound list="runs" what="Page">
    The address is mistyped, or the page was deleted.
  </NotFound>
);
