// What a step and the runner say to each other: variables, files and lines that begin with `::`. The forms are
// those of docs.github.com, "Workflow commands"; @actions/core does the same and brings an HTTP client with it.

import { appendFileSync } from "node:fs";

export type Env = Readonly<Record<string, string | undefined>>;

export class Runner {
  constructor(
    private readonly env: Env,
    private readonly write: (line: string) => void = (line) => console.log(line),
    private readonly append: (file: string, text: string) => void = appendFileSync,
  ) {}

  /** The value of an input, "" if it was not given. */
  input(name: string): string {
    return (this.env[`INPUT_${name.replace(/ /g, "_").toUpperCase()}`] ?? "").trim();
  }

  variable(name: string): string {
    return this.env[name] ?? "";
  }

  /** What this step saved before, for its post step. */
  state(name: string): string {
    return this.env[`STATE_${name}`] ?? "";
  }

  saveState(name: string, value: string): void {
    this.set("GITHUB_STATE", name, value);
  }

  output(name: string, value: string): void {
    this.set("GITHUB_OUTPUT", name, value);
  }

  summary(markdown: string): void {
    this.toFile("GITHUB_STEP_SUMMARY", markdown);
  }

  info(text: string): void {
    this.write(harmless(text));
  }

  debug(text: string): void {
    this.command("debug", "", text);
  }

  warning(text: string, title = "remuda"): void {
    this.command("warning", ` title=${property(title)}`, text);
  }

  error(text: string, title = "remuda"): void {
    this.command("error", ` title=${property(title)}`, text);
  }

  private command(name: string, properties: string, text: string): void {
    this.write(`::${name}${properties}::${escaped(text)}`);
  }

  /** The value must be one line: nothing that is saved has more. */
  private set(file: string, name: string, value: string): void {
    if (/[\r\n]/.test(value)) throw new Error(`${name}: must be one line`);
    this.toFile(file, `${name}=${value}\n`);
  }

  private toFile(variable: string, text: string): void {
    const file = this.env[variable];
    if (file) this.append(file, text); // who runs this outside of a workflow has none
  }
}

const escaped = (s: string) => s.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
const property = (s: string) => escaped(s).replace(/:/g, "%3A").replace(/,/g, "%2C");

/**
 * Text of others must not be taken for a command: the runner looks for `::` at the beginning of a line, and for `##[`
 * anywhere in it (actions/runner, ActionCommand.cs).
 */
const harmless = (s: string) =>
  s
    .replace(/[\r\n]+/g, " ")
    .replace(/##\[/g, "## [")
    .replace(/^\s*(?=::)/, "> ");
