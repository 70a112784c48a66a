// A TCP relay in front of a server: it can be slow, cut a connection after so many bytes, and be
// down; and it remembers the head of every request.

import net from 'node:net';

export class Wire {
	heads = []; // "GET /files/a HTTP/1.1\r\nhost: …", in the order of arrival
	rate = { up: 0, down: 0 }; // bytes a second and connection; 0 is as fast as it goes
	cutAfter = Infinity; // bytes towards the client until its connection is cut, once
	down = false; // no connection gets through
	#sockets = new Set();

	static async to(port) {
		const wire = new Wire();
		wire.server = net.createServer(client => wire.#relay(client, port));
		await new Promise(done => wire.server.listen(0, '127.0.0.1', done));
		wire.port = wire.server.address().port;
		return wire;
	}

	#relay(client, port) {
		if (this.down)
			return client.resetAndDestroy();
		const server = net.connect(port, '127.0.0.1');
		const ends = [client, server];
		const close = () => ends.forEach(s => s.destroy());
		for (const s of ends) {
			this.#sockets.add(s);
			s.setNoDelay(true);
			s.on('error', close);
			s.on('close', () => this.#sockets.delete(s));
		}
		this.#pump(client, server, 'up', data => {
			const text = data.toString('latin1');
			for (const [head] of text.matchAll(/^[A-Z]+ \S+ HTTP\/1\.1\r\n(?:.+\r\n)*/gm))
				this.heads.push(head);
			return data;
		});
		this.#pump(server, client, 'down', data => {
			const left = this.cutAfter;
			this.cutAfter -= data.length;
			if (this.cutAfter > 0)
				return data;
			this.cutAfter = Infinity;
			client.write(data.subarray(0, left));
			setTimeout(close, 300); // a browser drops what it has not passed on when the cut comes
			return null;
		});
	}

	#pump(from, to, way, look) {
		from.on('data', data => {
			const out = look(data);
			if (!out)
				return from.pause();
			const full = !to.write(out);
			const rate = this.rate[way];
			if (!full && !rate)
				return;
			from.pause();
			setTimeout(() => to.writableNeedDrain ? to.once('drain', () => from.resume()) : from.resume(),
				rate ? data.length / rate * 1000 : 0);
		});
		from.on('end', () => to.end());
		from.on('close', () => to.destroy());
	}

	// The heads of the requests of a method for a path.
	requests(method, path) {
		return this.heads.filter(h => h.startsWith(`${method} ${path} `));
	}

	cutAll() {
		for (const s of this.#sockets)
			s.destroy();
	}

	close() {
		this.cutAll();
		this.server.close();
	}
}
