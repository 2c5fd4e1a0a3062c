// Never ends being loaded.
for (let n = 0; n < 1;) n *= 2;

export default undefined;
