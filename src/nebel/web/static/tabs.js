// The parts of the page, in the order of their tabs. A part is a module in tabs/; router.js says what it exports.
import * as arena from "./tabs/arena.js";
import * as build from "./tabs/build.js";
import * as look from "./tabs/look.js";
import * as play from "./tabs/play.js";
import * as review from "./tabs/review.js";
import * as runs from "./tabs/runs.js";

export const TABS = [play, look, review, build, arena, runs];
