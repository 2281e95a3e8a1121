import { render } from "preact";
import { App } from "./app";
import { readReportData } from "./summary";

const place = document.getElementById("report");
if (place) {
  readReportData().then((data) => render(<App data={data} />, place)).catch((error: unknown) => {
    place.textContent = `This report's data cannot be shown: ${String(error)}`;
    throw error;
  });
}
