// npm run licences: name, version and licence of every package that an installation has; exit code 1 when one of
// them is under a licence that scripts/licence-rules.ts does not allow.
import { licenceProblems } from './licence-rules.ts';
import { lockedPackages } from './locked-packages.ts';

const packages = lockedPackages('.');
for (const { name, version, licence } of packages) console.log(`${name}@${version}\t${licence}`);
const problems = licenceProblems(packages);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
