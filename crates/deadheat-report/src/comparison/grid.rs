//! A table in a terminal: columns that line up, colours that take no room.

use crate::layout::Width as _;

use super::options::ComparisonOptions;
use super::sheet::{Cell, Column, Kind, Sheet};
use crate::glyphs::Glyphs;
use crate::layout;
use crate::names::shorten;

/// Spaces before every row.
const INDENT: usize = 2;

/// Columns a name keeps, however narrow the terminal.
const NAME_AT_LEAST: usize = 12;

/// Columns a name should have before p-values take room.
const NAME_AT_EASE: usize = 20;

/// The table in so many columns. Where there is little room, p-values are left
/// out and names are shortened; where there is less, names stand on lines of
/// their own; and where there is hardly any, cells are broken.
pub(super) fn grid(sheet: &Sheet, options: &ComparisonOptions, glyphs: Glyphs) -> String {
    let widths = widths(sheet);
    let name = name_width(sheet, &widths);
    let rest = |sheet: &Sheet, widths: &[usize]| {
        let others = sheet.columns.iter().zip(widths);
        let others = others.filter(|(column, _)| column.kind != Kind::Name);
        INDENT + others.map(|(_, width)| layout::GAP + width).sum::<usize>()
    };
    let room = options.width.saturating_sub(rest(sheet, &widths));
    if room >= name {
        return drawn(sheet, &widths, options, glyphs);
    }
    let told_otherwise = sheet
        .columns
        .iter()
        .any(|column| column.kind == Kind::PValue);
    if told_otherwise && room < NAME_AT_EASE {
        return grid(&sheet.without(Kind::PValue), options, glyphs);
    }
    if room >= NAME_AT_LEAST {
        let name = |(column, width): (&Column, &usize)| match column.kind {
            Kind::Name => room,
            _ => *width,
        };
        let narrow: Vec<usize> = sheet.columns.iter().zip(&widths).map(name).collect();
        return drawn(sheet, &narrow, options, glyphs);
    }
    let figures = sheet.without(Kind::Name);
    let widths = self::widths(&figures);
    if rest(&figures, &widths) <= options.width {
        return stacked(sheet, &figures, &widths, options, glyphs);
    }
    broken(sheet, options, glyphs)
}

/// What every column needs.
fn widths(sheet: &Sheet) -> Vec<usize> {
    let width = |(index, column): (usize, &Column)| {
        let cells = sheet.rows.iter().map(|row| row[index].text.width());
        cells.fold(column.head.width(), usize::max)
    };
    sheet.columns.iter().enumerate().map(width).collect()
}

fn name_width(sheet: &Sheet, widths: &[usize]) -> usize {
    let mut columns = sheet.columns.iter().zip(widths);
    let name = columns.find(|(column, _)| column.kind == Kind::Name);
    name.map_or(0, |(_, width)| *width)
}

fn drawn(sheet: &Sheet, widths: &[usize], options: &ComparisonOptions, glyphs: Glyphs) -> String {
    let mut text = String::new();
    for row in std::iter::once(&sheet.heads()).chain(&sheet.rows) {
        text += &line(sheet, row, widths, options, glyphs);
    }
    text
}

/// Each row below the name of its benchmark.
fn stacked(
    sheet: &Sheet,
    figures: &Sheet,
    widths: &[usize],
    options: &ComparisonOptions,
    glyphs: Glyphs,
) -> String {
    let mut text = String::new();
    let (heads, names) = (figures.heads(), sheet.heads());
    let rows = std::iter::once(&heads).chain(&figures.rows);
    let names = std::iter::once(&names).chain(&sheet.rows);
    for (row, of) in rows.zip(names) {
        let cells = of.iter().zip(&sheet.columns);
        for (name, _) in cells.filter(|(_, column)| column.kind == Kind::Name) {
            let room = options.width.saturating_sub(INDENT);
            let shown = painted(shorten(&name.text, room, glyphs), name, options);
            if !name.text.is_empty() {
                text += &format!("{}{shown}\n", " ".repeat(INDENT));
            }
        }
        let row = line(figures, row, widths, options, glyphs);
        text += &format!("{}{row}", " ".repeat(layout::GAP));
    }
    text
}

/// One line of the table, with its line break.
fn line(
    sheet: &Sheet,
    row: &[Cell],
    widths: &[usize],
    options: &ComparisonOptions,
    glyphs: Glyphs,
) -> String {
    let mut line = " ".repeat(INDENT);
    for (index, (cell, column)) in row.iter().zip(&sheet.columns).enumerate() {
        if index > 0 {
            line.push_str(&" ".repeat(layout::GAP));
        }
        let shown = match column.kind {
            Kind::Name => shorten(&cell.text, widths[index], glyphs),
            _ => cell.text.clone(),
        };
        // Painted after it was measured: escape sequences have no width.
        let fill = " ".repeat(widths[index].saturating_sub(shown.width()));
        let shown = painted(shown, cell, options);
        match column.kind.to_the_left() {
            true => line.push_str(&(shown + &fill)),
            false => line.push_str(&(fill + &shown)),
        }
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

fn painted(shown: String, cell: &Cell, options: &ComparisonOptions) -> String {
    match cell.tone.filter(|_| options.color) {
        Some(tone) => format!("\u{1b}[{}m{shown}\u{1b}[0m", tone.code()),
        None => shown,
    }
}

/// With cells in several lines, where nothing else helps.
fn broken(sheet: &Sheet, options: &ComparisonOptions, glyphs: Glyphs) -> String {
    let header: Vec<&str> = sheet.columns.iter().map(|c| c.head.as_str()).collect();
    let cells = |row: &Vec<Cell>| -> Vec<String> {
        let cells = row.iter().zip(&sheet.columns);
        let shown = cells.map(|(cell, column)| match column.kind {
            Kind::Name => shorten(&cell.text, NAME_AT_LEAST, glyphs),
            _ => cell.text.clone(),
        });
        shown.collect()
    };
    let rows: Vec<Vec<String>> = sheet.rows.iter().map(cells).collect();
    let set = |column: &Column| if column.kind.to_the_left() { 'l' } else { 'r' };
    let aligned: String = sheet.columns.iter().map(set).collect();
    layout::table(&header, &rows, &aligned, INDENT, options.width)
}
