// Advice on failed imports.

// How Node and Vite name a file that is missing, or the entry of a package. A missing package has no
// path, and no build of the project writes it.
const MISSING_FILE =
  /Cannot find module ['"](?:[./]|file:)|Failed to resolve import ['"][./]|Failed to resolve entry for package/;

/** Advice on the message of an error; null if there is none. */
export function adviceOn(message) {
  if (/Unknown file extension "\.[cm]?tsx?"/.test(message))
    return "use Node 22.18 or later, which reads TypeScript, or tsx (docs/javascript.md)";
  if (!MISSING_FILE.test(message)) return null;
  return "if a build writes this file, add --build 'npm ci && npm run build' to deadheat rev";
}
