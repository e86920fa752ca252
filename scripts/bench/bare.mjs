import { createServer } from "node:http";
import { listen } from "../support/ports.mjs";

/** A server that only answers with a body of the size of a run's status. Prints its port. */
const body = JSON.stringify({ filler: "x".repeat(350) });
const server = createServer((_incoming, outgoing) => {
  outgoing.writeHead(200, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": body.length,
  });
  outgoing.end(body);
});
console.log(await listen(server));
