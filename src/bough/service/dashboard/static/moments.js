// Times in the reader's own time zone.
for (const each of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(each.dateTime);
  if (each.dateTime && !Number.isNaN(moment.valueOf())) each.textContent = moment.toLocaleString();
}
