/**
 * Creates a function that computes a value once for each owner, such as a process's pool. The value lives as long as its
 * owner.
 */
export function perOwner<Owner extends object, Value>(
  make: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const made = new WeakMap<Owner, { value: Value }>();
  return (owner) => {
    const known = made.get(owner);
    if (known !== undefined) return known.value;
    const value = make(owner);
    made.set(owner, { value });
    return value;
  };
}
