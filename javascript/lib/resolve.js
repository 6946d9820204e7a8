// The resolve hook of `register.js`, for versions of Node whose hooks run in a thread.

let urls = {};

export async function initialize(data) {
  urls = data;
}

export async function resolve(specifier, context, next) {
  if (!Object.hasOwn(urls, specifier)) return next(specifier, context);
  return { url: urls[specifier], format: "commonjs", shortCircuit: true };
}
