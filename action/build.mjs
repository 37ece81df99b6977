// Bundles the action: node build.mjs [--out <folder>], or its tests: node build.mjs --tests.
//
// The same sources and package-lock.json give the same bytes on every machine: paths in the output are relative to
// this folder, and nothing else of the machine goes in. It is not minified: whoever runs it can read it.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
const tests = process.argv.includes("--tests");
const at = process.argv.indexOf("--out");
const out = at > 0 ? process.argv[at + 1] : tests ? "build/test" : "dist";

// preserveSymlinks: node_modules may be a link to a folder that several checkouts share.
const common = {
  preserveSymlinks: true,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  outdir: out,
  charset: "utf8",
};

/** What the step and its post step have in common is one file, which they load once they listen for signals. */
const shared = {
  name: "shared",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/main\.ts$/ }, () => ({ path: "./main.js", external: true })),
};

/** The folder of the package that a bundled file is of, as npm has it. */
const packageOf = (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

/** The licences of all packages in the bundle, which have to go where it goes; equal texts once. */
async function licences(files) {
  const byText = new Map();
  for (const folder of new Set(files.map(packageOf).filter(Boolean))) {
    const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const names = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
    const texts = await Promise.all(names.map((file) => readFile(path.join(folder, file), "utf8")));
    const text = texts.map((t) => t.replace(/\r\n/g, "\n").trim()).join("\n\n");
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.sort().join("\n")}\n\n${text}\n`).sort();
  return `What action/dist/index.js is made of besides remuda itself.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

await rm(out, { recursive: true, force: true });
if (tests) {
  const entryPoints = (await readdir("test")).filter((file) => file.endsWith(".test.ts")).map((file) => `test/${file}`);
  entryPoints.push("src/index.ts", "src/post.ts"); // run as processes of their own
  await build({
    ...common,
    entryPoints,
    outbase: ".",
    packages: "external",
    sourcemap: true,
    outExtension: { ".js": ".mjs" },
  });
} else {
  const result = await build({
    ...common,
    format: "cjs", // packages of the SDK call require
    entryPoints: { index: "src/index.ts", post: "src/post.ts", main: "src/main.ts" },
    plugins: [shared],
    supported: { "dynamic-import": false }, // require is there at once
    mainFields: ["module", "main"],
    legalComments: "eof",
    metafile: true,
    logLevel: "warning",
  });
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, "package.json"), '{"type":"commonjs"}\n'); // ours says "module"
  await writeFile(path.join(out, "licenses.txt"), await licences(Object.keys(result.metafile.inputs)));
}
