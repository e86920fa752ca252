/** A name as JSONata writes it. */
export const quoted = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "")}\``;
