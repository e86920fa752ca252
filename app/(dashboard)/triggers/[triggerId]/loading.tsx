import { LoadingPage } from "@/app/_ui/loading-page";

export default function TriggerLoading() {
  return <LoadingPage title="Trigger" />;
}
