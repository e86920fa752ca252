/** Opens a delivery's dialog on its trigger's page; null closes it. */
export function openDelivery(deliveryId: string | null): void {
  // Changes only this part of the address, whose outcome may be newer than the rendered one.
  const url = new URL(location.href);
  if (deliveryId === null) url.searchParams.delete("delivery");
  else url.searchParams.set("delivery", deliveryId);
  if (url.href !== location.href) window.history.pushState(null, "", url);
}
