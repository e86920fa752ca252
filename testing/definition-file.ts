export const PASSWORD = "correct horse battery";
export const SECRET = "s3cret-of-the-trigger";

/** A definition file that uses every feature, for an organization of its own. */
export function declareOrganization(slug: string): string {
  return `organizations:
  - slug: ${slug}
    name: Acme
    plan: { apiAccess: true, startsPerMinute: 100, readsPerMinute: 600, concurrency: 10 }
    credits: 1000
    members: [{ email: ada@${slug}.test, password: "${PASSWORD}", role: owner }]
    apiKeys: [{ name: ci }]
    tools:
      - slug: weather
        name: Weather
        description: Current weather of a city.
        parameters: { type: object, properties: { city: { type: string } }, required: [city], additionalProperties: false }
        steps:
          - id: fetch
            uses: http_request
            with: { url: "https://weather.test/v1?q={{ $encodeUrlComponent(input.city) }}" }
          - id: brief
            uses: transform_json
            with: { value: "{{ steps.fetch.body }}", expression: "{ 'tempC': current.temp }" }
        output: "{{ steps.brief }}"
        outputSchema: { type: object, properties: { tempC: { type: number } }, required: [tempC] }
    agents:
      - slug: helper
        name: Helper
        model: gpt-5-mini
        systemPrompt: You help.
        maxSteps: 8
        status: active
        functions: [calculate, current_time]
        tools: [weather]
    triggers:
      - slug: inbound
        agent: helper
        secret: ${SECRET}
        rateLimit: { requests: 30, seconds: 60 }
`;
}
