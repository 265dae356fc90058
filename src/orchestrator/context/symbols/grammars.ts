import type { Language } from './language.ts';
import type { SymbolKind } from './symbol.ts';

/** How a node of a grammar becomes a symbol. */
export interface SymbolRule {
  readonly kind: SymbolKind;
  /** The nodes that can hold its name. */
  readonly name: readonly string[];
  /** The nodes that can be its body; absent if it is to be shown as a whole. */
  readonly body?: readonly string[];
}

/** The nodes of a grammar that matter. */
export interface Grammar {
  readonly rules: Readonly<Record<string, SymbolRule>>;
  /** Nodes whose functions are methods. */
  readonly owners: ReadonlySet<string>;
  /** Nodes that are opened; nothing else is. */
  readonly opened: ReadonlySet<string>;
}

function grammar(
  rules: Readonly<Record<string, SymbolRule>>,
  owners: readonly string[],
  opened: readonly string[],
): Grammar {
  return { rules, owners: new Set(owners), opened: new Set([...owners, ...opened]) };
}

const rule = (kind: SymbolKind, name: string, body?: string): SymbolRule => ({
  kind,
  name: name.split(' '),
  body: body !== undefined ? body.split(' ') : undefined,
});

/** Grammars by language; the names of nodes are those of the parsers. */
export const GRAMMARS: Readonly<Record<Language, Grammar>> = {
  javascript: grammar(
    {
      FunctionDeclaration: rule('function', 'VariableDefinition', 'Block'),
      ClassDeclaration: rule('class', 'VariableDefinition', 'ClassBody'),
      MethodDeclaration: rule('method', 'PropertyDefinition PrivatePropertyDefinition', 'Block'),
      PropertyDeclaration: rule('method', 'PropertyDefinition PrivatePropertyDefinition', ''),
      Property: rule('method', 'PropertyDefinition', 'Block'),
      InterfaceDeclaration: rule('type', 'TypeDefinition', 'ObjectType'),
      TypeAliasDeclaration: rule('type', 'TypeDefinition'),
      EnumDeclaration: rule('type', 'TypeDefinition', 'EnumBody'),
      VariableDeclaration: rule('constant', 'VariableDefinition'),
      AssignmentExpression: rule('function', 'PropertyName', ''),
    },
    ['ClassDeclaration', 'ClassBody', 'ObjectExpression'],
    ['Script', 'ExportDeclaration', 'NamespaceDeclaration', 'Block', 'ExpressionStatement'],
  ),
  python: grammar(
    {
      FunctionDefinition: rule('function', 'VariableName', 'Body'),
      ClassDefinition: rule('class', 'VariableName', 'Body'),
      AssignStatement: rule('constant', 'VariableName'),
    },
    ['ClassDefinition'],
    ['Script', 'DecoratedStatement', 'Body', 'IfStatement', 'TryStatement'],
  ),
  rust: grammar(
    {
      FunctionItem: rule('function', 'BoundIdentifier', 'Block'),
      StructItem: rule('type', 'TypeIdentifier', 'FieldDeclarationList'),
      EnumItem: rule('type', 'TypeIdentifier', 'EnumVariantList'),
      UnionItem: rule('type', 'TypeIdentifier', 'FieldDeclarationList'),
      TraitItem: rule('type', 'TypeIdentifier', 'DeclarationList'),
      TypeItem: rule('type', 'TypeIdentifier'),
      ConstItem: rule('constant', 'BoundIdentifier'),
      StaticItem: rule('constant', 'BoundIdentifier'),
    },
    ['ImplItem', 'TraitItem'],
    ['SourceFile', 'ModItem', 'DeclarationList', 'ForeignModItem'],
  ),
  go: grammar(
    {
      FunctionDecl: rule('function', 'DefName', 'Block'),
      MethodDecl: rule('method', 'FieldName', 'Block'),
      TypeSpec: rule('type', 'DefName', 'StructType InterfaceType'),
      ConstSpec: rule('constant', 'DefName'),
    },
    [],
    ['SourceFile', 'TypeDecl', 'ConstDecl', 'SpecList'],
  ),
  java: grammar(
    {
      ClassDeclaration: rule('class', 'Definition', 'ClassBody'),
      InterfaceDeclaration: rule('type', 'Definition', 'InterfaceBody'),
      EnumDeclaration: rule('type', 'Definition', 'EnumBody'),
      RecordDeclaration: rule('type', 'Definition', 'RecordBody'),
      MethodDeclaration: rule('method', 'Definition', 'Block'),
    },
    ['ClassBody', 'InterfaceBody', 'EnumBody', 'RecordBody', 'EnumBodyDeclarations'],
    [
      ...['Program', 'ClassDeclaration', 'InterfaceDeclaration', 'EnumDeclaration'],
      'RecordDeclaration',
    ],
  ),
  cpp: grammar(
    {
      FunctionDefinition: rule(
        'function',
        'Identifier FieldIdentifier ScopedIdentifier',
        'CompoundStatement',
      ),
      ClassSpecifier: rule('class', 'TypeIdentifier', 'FieldDeclarationList'),
      StructSpecifier: rule('type', 'TypeIdentifier', 'FieldDeclarationList'),
      EnumSpecifier: rule('type', 'TypeIdentifier', 'EnumeratorList'),
    },
    ['FieldDeclarationList'],
    [
      ...['Program', 'NamespaceDefinition', 'CompoundStatement', 'TemplateDeclaration'],
      ...['LinkageSpecification', 'DeclarationList', 'ClassSpecifier', 'StructSpecifier'],
      'PreprocDirective',
    ],
  ),
  php: grammar(
    {
      FunctionDefinition: rule('function', 'Name', 'Block'),
      ClassDeclaration: rule('class', 'Name', 'DeclarationList'),
      InterfaceDeclaration: rule('type', 'Name', 'DeclarationList'),
      TraitDeclaration: rule('type', 'Name', 'DeclarationList'),
      EnumDeclaration: rule('type', 'Name', 'EnumBody'),
      MethodDeclaration: rule('method', 'Name', 'Block'),
    },
    ['DeclarationList', 'EnumBody'],
    [
      ...['Template', 'Program', 'NamespaceDefinition', 'Block', 'ClassDeclaration'],
      ...['InterfaceDeclaration', 'TraitDeclaration', 'EnumDeclaration'],
    ],
  ),
};
