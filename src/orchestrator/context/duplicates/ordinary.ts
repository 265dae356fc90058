/** Folders whose code repeats other code on purpose, or is nobody's work. */
const ASIDE =
  /(?:^|\/)(?:__tests__|__mocks__|tests?|specs?|e2e|testing|testdata|test[-_.]\w+|fixtures?|examples?|samples?|demos?|tutorials?|playground|benchmarks?|bench|mocks?|stubs?|snippets|templates?|generated|gen|vendor|third_party|node_modules|dist|build|docs?|migrations?|legacy|deprecated|compat)\//i;
const ASIDE_FILE =
  /(?:^|\/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|spec|tests|e2e|bench|stories|mock|generated|gen|pb|min)\.[^/]+|[^/]*Tests?\.\w+|[^/]*\.d\.[cm]?ts|[^/]*\.config\.[^/]+|setup\.py)$/;
/** Written once for each system, where the build takes one of them. */
const SYSTEM =
  /[._-](?:linux|darwin|windows|win32|unix|posix|macos|mac|freebsd|amd64|arm64|wasm|js|node|browser|web|native|ios|android|server|client|other|stub|async|sync)(?=\.\w+$)/i;
/** Words that many projects define in several places, or that a framework asks for. */
const COMMON = new Set(
  `parseargs parsearguments getserversideprops getstaticprops getstaticpaths generatemetadata generatestaticparams
  mapstatetoprops mapdispatchtoprops usestyles defineconfig createapp getlogger setuplogging handlerequest
  handleerror tostring tojson fromjson setup teardown beforeeach aftereach beforeall afterall registercommands
  getconfig loadconfig printusage printhelp showhelp addcommand buildparser rundefault getinstance
  getdefaultprops componentdidmount newserver newclient newhandler errormessage`.split(/\s+/),
);

/** Whether code of a file counts: not that of tests, examples, generated or foreign files. */
export function isOrdinary(file: string): boolean {
  return !ASIDE.test(file) && !ASIDE_FILE.test(file);
}

/** Whether two files are the same for two systems: `a_linux.go` and `a_windows.go`. */
export function areVariants(a: string, b: string): boolean {
  const plain = (file: string): string => file.replace(SYSTEM, '');
  return a !== b && plain(a) === plain(b);
}

/** Whether a function's name says so much that another function hardly gets it by chance. */
export function isDistinctive(name: string): boolean {
  const parts = name.split(/[_$\d]+|(?<=\p{Ll})(?=\p{Lu})/u).filter(part => part !== '');
  const plain = parts.join('').toLowerCase();
  return (
    parts.length > 1 &&
    plain.length >= 8 &&
    !COMMON.has(plain) &&
    !/^(?:test|should|it|bench|mock|fake|stub|on|handle|__)(?:[_\p{Lu}]|_$)/u.test(name) &&
    !name.startsWith('__')
  );
}
