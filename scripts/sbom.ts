// npm run sbom: a CycloneDX 1.6 bill of materials as JSON on stdout, the same for the same package-lock.json.

import { bom } from './cyclonedx.ts';
import { licenceProblems } from './licence-rules.ts';
import { lockedPackages } from './locked-packages.ts';

const packages = lockedPackages('.');
const problems = licenceProblems(packages);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(JSON.stringify(bom(packages), null, 2));
