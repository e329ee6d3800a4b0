process.stderr.write('konnectivity-ts: no command yet\n');
