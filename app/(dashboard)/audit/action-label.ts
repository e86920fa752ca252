/** An audit entry's action in words: `api_key.revoked` is "API key revoked". */
export function actionLabel(action: string): string {
  const words = action.replace(/^api_/, "API_").replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
