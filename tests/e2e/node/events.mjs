// What EventSource hears of a URL until it is told that nothing is left, as JSON.
//
//   node --experimental-eventsource events.mjs URL EVENT   prints [last event id, data] of each event of that name

const [url, name] = process.argv.slice(2);
const source = new EventSource(url);
const heard = [];
// Its own timer does not keep the process.
const patience = setTimeout(() => process.exit(1), 20000);

source.addEventListener(name, event => heard.push([event.lastEventId, event.data]));
source.onerror = () => {
	if (source.readyState !== EventSource.CLOSED)
		return;
	console.log(JSON.stringify(heard));
	clearTimeout(patience);
};
