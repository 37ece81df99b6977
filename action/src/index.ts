// What the runner starts. Whoever imports main.ts instead starts nothing.

import { run } from "./main.ts";

void run();
