import { NotFound } from "../../content-page";

export default () => (
  <NotFound list="schedules" what="Schedule">
    It was deleted, or it belongs to another of your organizations.
  </NotFound>
);
