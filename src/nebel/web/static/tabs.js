// The parts of the page, in the order of their tabs. A part is a module in tabs/; router.js says what it exports.
import * as play from "./tabs/play.js";

export const TABS = [play];
