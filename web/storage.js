// Autosave: records in IndexedDB by key. Where there is none (private windows, blocked storage) every call says so by
// rejecting; the page then tells that nothing is kept.

let opened = null

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('opspec', 1)
    request.onupgradeneeded = () => request.result.createObjectStore('records')
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  return opened
}

async function request(mode, act) {
  const store = (await database()).transaction('records', mode).objectStore('records')
  return new Promise((resolve, reject) => {
    const asked = act(store)
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
}

export const load = key => request('readonly', store => store.get(key))
export const keep = (key, record) => request('readwrite', store => store.put(record, key))
export const forget = key => request('readwrite', store => store.delete(key))
