// Time is a dependency, so that tests need not wait for it.

export interface Clock {
  /** The wall clock, milliseconds since 1970. What records hold. */
  now(): number;
  /** Milliseconds that never step. What waits are measured by. */
  ticks(): number;
  /** Returns after ms, or at once when signal aborts. Never fails. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done);
    }),
};

/** How long something may take: until ticks of a clock, or until it is called off. */
export class Limit {
  constructor(
    readonly clock: Clock,
    public until: number,
    readonly signal: AbortSignal,
  ) {}

  static after(clock: Clock, ms: number, signal: AbortSignal = new AbortController().signal): Limit {
    return new Limit(clock, clock.ticks() + ms, signal);
  }

  get left(): number {
    return this.until - this.clock.ticks();
  }

  /** Throws once the time is over. what is what did not end in it. */
  check(what: string): void {
    if (this.signal.aborted) throw new Ended("cancelled", `${what}: cancelled`);
    if (this.left <= 0) throw new Ended("timeout", `${what}: not done in time`);
  }

  /** Sleeps for ms, or for what is left. */
  pause(ms: number): Promise<void> {
    return this.clock.sleep(Math.max(0, Math.min(ms, this.left)), this.signal);
  }
}

export class Ended extends Error {
  constructor(
    readonly why: "cancelled" | "timeout",
    message: string,
  ) {
    super(message);
  }
}

/** A pause of ms, off by up to a fifth: clients that started together part. */
export function jitter(ms: number, random: () => number = Math.random): number {
  return ms * (0.8 + 0.4 * random());
}

/** Pauses that grow by half from first to last. */
export function* pauses(first: number, last: number): Generator<number, never> {
  for (let ms = first; ; ms = Math.min(ms * 1.5, last)) yield jitter(ms);
}

/** Says when something is due that is to happen once per period. Asked late, it is due earlier the next time. */
export class Every {
  constructor(
    private readonly period: number,
    private next: number,
  ) {}

  due(now: number): boolean {
    if (now < this.next) return false;
    this.next = now + this.period - ((now - this.next) % this.period);
    return true;
  }
}
