// What the runner starts at the end of the job. It is a file of its own since nothing else distinguishes the two for
// certain: the runner registers it before it starts the step, so a job that is cancelled early has a post step
// whose step has never saved a state (actions/runner, ActionRunner.cs).

import { cancellation, leave } from "./process.ts";

cancellation(); // what it has to give back is due all the same, and bounded by time
void import("./main.ts").then(({ post }) => post()).finally(leave);
