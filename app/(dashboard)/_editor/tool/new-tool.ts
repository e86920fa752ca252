/** The definition that a new tool begins with: it works, and shows each part once. */
export const NEW_TOOL = `slug: my-tool
name: My tool
description: Greets a city.
parameters:
  type: object
  properties:
    city: { type: string, description: "A city, such as Oslo" }
  required: [city]
steps:
  - id: greeting
    uses: transform_json
    with:
      value: "{{ input }}"
      expression: '"Hello " & city'
output: "{{ steps.greeting }}"
`;
