// The events of a URL as EventSource hears them, until it is told that there are no more: a line of JSON.
const [url, name] = process.argv.slice(2)
const source = new EventSource(url)
const heard = []

source.addEventListener(name, event => heard.push([event.lastEventId, event.data]))
source.onerror = () => {
  if (source.readyState === EventSource.CLOSED) console.log(JSON.stringify(heard))
}
