/** Shows results to a person: the text table and the self-contained HTML report. */
@NullMarked
package dev.onehop.measure.report;

import org.jspecify.annotations.NullMarked;
