// What the runner starts as the step. Importing main.ts instead starts nothing.

import { cancellation, leave } from "./process.ts";

const cancelled = cancellation();
void import("./main.ts").then(({ step }) => step(cancelled)).finally(leave);
